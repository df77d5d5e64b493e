"""Parsers of Redfish resources, one module per kind of resource."""
