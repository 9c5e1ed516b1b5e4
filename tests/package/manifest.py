#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""manifest.py json|fields FILE: prints the documents of a manifest as a JSON array, or what is wrong with their fields.

The fields are compared with the classes of Debian's python3-kubernetes, which are generated from the OpenAPI document of
Kubernetes: unknown fields, wrong types, missing fields, and values outside of an enumeration. This is not a schema validator,
and does not know the checks of the API server beyond that document.
"""
import json
import re
import sys

import yaml

PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float), "datetime": str}


def model(name):
    """Returns the class of that name, or None."""
    from kubernetes import client

    return getattr(client, name, None)


def check(value, kind, where, faults):
    """Checks a value against a type of the generated classes. Returns it as they want it."""
    parts = re.fullmatch(r"(list|dict)[\[(](?:str, )?(.+)[\])]", kind)
    if kind == "object":  # also a quantity, and a number or a string
        return value
    if parts and parts[1] == "list":
        if not isinstance(value, list):
            faults.append(f"{where} must be a list")
            return None
        return [check(item, parts[2], f"{where}[{i}]", faults) for i, item in enumerate(value)]
    if not isinstance(value, dict) and (parts or kind not in PLAIN):
        faults.append(f"{where} must have fields")
        return None
    if parts:
        return {key: check(item, parts[2], f"{where}.{key}", faults) for key, item in value.items()}
    if kind in PLAIN:
        if not isinstance(value, PLAIN[kind]) or isinstance(value, bool) != (kind == "bool"):
            faults.append(f"{where} must be of type {kind}")
        return value
    return check_fields(value, model(kind), where, faults)


def check_fields(value, cls, where, faults):
    """Checks the fields of an object of a generated class. Returns an object of it, or None."""
    attributes = {field: attribute for attribute, field in cls.attribute_map.items()}
    known = {}
    for field, item in value.items():
        attribute = attributes.get(field)
        if attribute is None:
            faults.append(f"{where} has no field {field}")
        else:
            known[attribute] = check(item, cls.openapi_types[attribute], f"{where}.{field}", faults)
    try:
        return cls(**known)
    except ValueError as error:
        faults.append(f"{where}: {error}")
        return None


def check_document(document, faults):
    """Checks one document, whose class follows from its apiVersion and kind."""
    version = str(document.get("apiVersion", "")).rpartition("/")[2]
    kind = str(document.get("kind", ""))
    cls = model(version.capitalize() + kind)
    if cls is None:
        faults.append(f"there is no {kind} of version {version}")
    else:
        check_fields(document, cls, kind, faults)


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    if sys.argv[1] == "json":
        json.dump(documents, sys.stdout)
        return 0
    faults = []
    for document in documents:
        check_document(document, faults)
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


sys.exit(main())
