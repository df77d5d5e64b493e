"""Help texts for editors: a sentence for each key of a profile's file, a param, a rule and a test."""

from collections.abc import Mapping

FILE: Mapping[str, str] = {
    "rackcheck": "The format of this file: 1.",
    "profile": "The profile's name: small letters, digits, dots, hyphens, underscores.",
    "version": "Any version; who extends this profile names it.",
    "title": "One line for people.",
    "extends": "The one parent, as NAME@VERSION: this file is laid over it.",
    "include": "Fragments whose rules and params are added, as NAME or NAME@VERSION.",
    "fragment": "true: made to be included by others; it extends nothing, and gives no verdict on a machine.",
    "reviewed": "false: the rules were learned from machines, and nobody has answered for them yet.",
    "reviewed-by": "Who has read the learned rules and answers for them.",
    "applies-to": "Machines this is for, one key that fits is enough: a node known to be another one is INCOMPLETE.",
    "params": "Values that a site may set, by name; an operator uses one as $name.",
    "rules": "Rules by id. In an overlay a rule holds only what it changes.",
    "waivers": "Findings that somebody answers for; `rackcheck waive` writes them.",
}
"""Keys of the whole file."""

APPLIES: Mapping[str, str] = {
    "product": "Globs over the machine's product, as DMI or the BMC's systems give it: DGXH100*.",
    "board": "Globs over its board, as DMI or the BMC's chassis give it: NVIDIA HGX H100*.",
    "cpu": "Globs over the processor's model, as Linux or the BMC gives it: AMD EPYC*.",
    "device": "PCI ids of a part that it has, vendor or vendor:device without 0x: 10de:2330.",
    "role": "The role of the nodes that it is for, by default compute.",
}
"""Keys of `applies-to`."""

PARAM: Mapping[str, str] = {
    "type": "What kind of value it is, for people.",
    "default": "Used until a site sets another; `unset` makes every rule that uses the param n/a.",
    "about": "What it is, for people.",
}
"""Keys of a param."""

RULE: Mapping[str, str] = {
    "title": "What holds where the rule passes.",
    "severity": "blocker and major (the default) fail the node, minor fails alone, advisory only warns.",
    "why": "What it does to the work, in a clause.",
    "fix": "What to do or type.",
    "refs": "Ids of sources.yaml; a rule whose every source is from memory warns at most.",
    "drop": "The reason why this rule of the parent is not used.",
    "scope": "Whose facts these are: node (the default), rack or fleet.",
    "role": "The roles it is for: one, a list, or `any`; by default compute.",
    "phase": "config (the default), burn-in or fabric.",
    "needs": "Rules that must not fail or be unknown first; else this one is unknown.",
    "each": "Look at every item of this collection: all must pass.",
    "any": "Look at the items of this collection: at least one must pass.",
    "no": "Look at the items of this collection: none may pass.",
    "count": "Look at how many items this collection has; the operators judge that number.",
    "where": "Only items that pass this test; its fact starts at the item.",
    "when": "Judged only where this test of the node passes; else n/a.",
    "expect-count": "With each and any: there are exactly so many items.",
    "allow-failing": "With each: so many items may fail.",
    "allow-empty": "With each and any: true makes no item at all n/a; otherwise it fails.",
    "across": "Nodes of a role, held side by side.",
    "agree": "The share of the expected nodes whose value is the right one.",
    "fact": "A fact of the node or, inside a look, of the item; or a fact and its operators in one map.",
    "all-of": "Tests that must all pass.",
    "any-of": "Tests of which one must pass.",
    "call": "A rule written in Python, of an installed package.",
}
"""Keys of a rule that are not operators."""

TEST: Mapping[str, str] = {
    "is": "The fact is this value; of a list only `none`, for an empty one.",
    "is-not": "The fact is not this value.",
    "one-of": "The fact is one of these values.",
    "none-of": "The fact is none of these values.",
    "at-least": "The fact is this or more; a quantity has a unit, as 16 GiB.",
    "at-most": "The fact is this or less; a quantity has a unit, as 95 %.",
    "above": "The fact is more than this.",
    "below": "The fact is less than this.",
    "within": "The fact is no further than `by` from `of`; `by` has its unit or is in % of it.",
    "spread": "The largest and the smallest of the items differ by at most so many % of the largest; with each.",
    "like": "The fact matches this glob with * and ?.",
    "matches": "The fact holds a match of this RE2 pattern anywhere.",
    "includes": "The list holds all of these texts.",
    "excludes": "The list holds none of these texts.",
    "present": "true: the fact is there; false: we looked, and it is absent.",
    "same-as": "The fact is the same as this one: a path of the node or, with a leading dot, of the item.",
    "mask": "These bits of the number are so.",
    "equal": "true: the fact is the same on all items; with each.",
    "warn-below": "A second threshold: below it the rule warns.",
    "warn-above": "A second threshold: above it the rule warns.",
    "steady": "true: the fact is the same in two readings of a run.",
    "rate": "The fact grows by at most so much between two readings of a run.",
}
"""Operators."""

ACROSS: Mapping[str, str] = {
    "role": "The role whose nodes are siblings; by default compute.",
    "facts": "Facts that they share; a last * is every one below that is configuration or a version.",
    "except": "Facts that may differ.",
}
"""Keys of `across`."""
