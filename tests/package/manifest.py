#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""manifest.py json FILE: prints the documents of a manifest as a JSON array
manifest.py schema APIVERSION KIND: prints the JSON Schema of a kind of document
manifest.py validate FILE: validates the documents by python3-jsonschema; prints what is wrong

The schemas are made of the classes of python3-kubernetes, which are generated from the OpenAPI document of Kubernetes. They are
strict: they take only fields that Kubernetes knows, with its types, and demand its required fields. They lack what the API
server checks beyond that document.
"""
import json
import re
import sys

import yaml

PLAIN = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "datetime": {"type": "string"},
    "object": {},  # also a quantity, and a number or a string
}


def type_schema(kind, open_kinds):
    """Returns the schema of a type of the generated classes. Appends the classes that it names to open_kinds."""
    parts = re.fullmatch(r"(list|dict)[\[(](?:str, )?(.+)[\])]", kind)
    if parts and parts[1] == "list":
        return {"type": "array", "items": type_schema(parts[2], open_kinds)}
    if parts:
        return {"type": "object", "additionalProperties": type_schema(parts[2], open_kinds)}
    if kind in PLAIN:
        return dict(PLAIN[kind])
    open_kinds.append(kind)
    return {"$ref": f"#/$defs/{kind}"}


def is_required(cls, attribute):
    """Returns whether a class refuses that the attribute is None."""
    from kubernetes.client import Configuration

    item = cls.__new__(cls)
    item.local_vars_configuration = Configuration()
    try:
        setattr(item, attribute, None)
    except ValueError:
        return True
    return False


def class_schema(cls, open_kinds):
    """Returns the schema of a generated class."""
    properties, required = {}, []
    for attribute, field in cls.attribute_map.items():
        schema = type_schema(cls.openapi_types[attribute], open_kinds)
        if is_required(cls, attribute):
            required.append(field)
        properties[field] = schema
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def document_class(version, kind):
    """Returns the class of a document that the API server would create, or None."""
    from kubernetes import client

    group, _, version = version.rpartition("/")
    prefix = "".join(word.capitalize() for word in group.removesuffix(".k8s.io").split(".")) or "Core"
    api = getattr(client, f"{prefix}{version.capitalize()}Api", None)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
    if not hasattr(api, f"create_{name}") and not hasattr(api, f"create_namespaced_{name}"):
        return None
    return getattr(client, version.capitalize() + kind, None)


def document_schema(version, kind):
    """Returns the schema of a kind of document, or None if there is no such kind."""
    from kubernetes import client

    cls = document_class(version, kind)
    if cls is None:
        return None
    open_kinds, classes = [], {}
    root = class_schema(cls, open_kinds)
    while open_kinds:
        name = open_kinds.pop()
        if name not in classes:
            classes[name] = {}
            classes[name] = class_schema(getattr(client, name), open_kinds)
    root["properties"] |= {"apiVersion": {"const": version}, "kind": {"const": kind}}
    root["required"] += ["apiVersion", "kind"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, "$defs": classes}


def faults_of(document):
    """Returns what is wrong with one document."""
    import jsonschema

    version, kind = str(document.get("apiVersion", "")), str(document.get("kind", ""))
    schema = document_schema(version, kind)
    if schema is None:
        return [f"there is no {kind} of version {version}"]
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return sorted(f"{kind}{error.json_path[1:]}: {error.message}" for error in errors)


def main():
    if sys.argv[1] == "schema":
        json.dump(document_schema(*sys.argv[2:4]), sys.stdout)
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    if sys.argv[1] == "json":
        json.dump(documents, sys.stdout)
        return 0
    faults = [fault for document in documents for fault in faults_of(document)]
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


sys.exit(main())
