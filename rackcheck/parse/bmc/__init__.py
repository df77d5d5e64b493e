"""Parsers of Redfish resources, a module for a kind of resource."""
