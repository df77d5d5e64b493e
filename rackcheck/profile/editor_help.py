"""Help texts for editors: a sentence for each key of a profile's file, a param, a rule and a test."""

from collections.abc import Mapping

FILE: Mapping[str, str] = {
    "rackcheck": "The format of this file: 1.",
    "profile": "The profile's name: small letters, digits, dots, hyphens, underscores.",
    "version": "Any text; a profile that extends this one must name this version.",
    "title": "A one-line description for users.",
    "extends": "The parent profile, as NAME@VERSION: this file is merged over it.",
    "include": "Fragments whose rules and params are added, as NAME or NAME@VERSION.",
    "fragment": "true: a file to include in other profiles; it extends no profile and gives no verdict by itself.",
    "reviewed": "false: the rules were learned from machines, and are not reviewed yet.",
    "reviewed-by": "The person who has reviewed the learned rules.",
    "applies-to": "Machines that this profile is for; one matching key is enough. Any other machine is INCOMPLETE.",
    "params": "Values that a site may set, by name; an operator uses one as $name.",
    "rules": "Rules by id. In an overlay a rule contains only its changes.",
    "waivers": "Accepted findings, each with a responsible person; `rackcheck waive` writes them.",
}
"""Help texts of the top-level keys of a profile file."""

APPLIES: Mapping[str, str] = {
    "product": "Globs for the machine's product, as DMI or the BMC's systems report it: DGXH100*.",
    "board": "Globs for its board, as DMI or the BMC's chassis report it: NVIDIA HGX H100*.",
    "cpu": "Globs for the processor's model, as Linux or the BMC reports it: AMD EPYC*.",
    "device": "PCI ids, vendor or vendor:device without 0x, as 10de:2330; at least one part must have one of them.",
    "role": "The role of the nodes that the profile is for; default: compute.",
}
"""Help texts of the keys of `applies-to`."""

PARAM: Mapping[str, str] = {
    "type": "The kind of value, for users.",
    "default": "Used until a site sets another value; `unset` makes every rule that uses the param n/a.",
    "about": "Its description, for users.",
}
"""Help texts of the keys of a param."""

RULE: Mapping[str, str] = {
    "title": "A statement that is true if the rule passes.",
    "severity": "blocker and major (the default) fail the node, minor fails only the rule, advisory only warns.",
    "why": "The consequence of a failure, in one or two sentences.",
    "fix": "The action or command that fixes it.",
    "refs": "Ids in sources.yaml; a rule whose sources are all marked `from memory` can only warn.",
    "drop": "The reason why this rule of the parent is not used.",
    "scope": "What the facts belong to: node (the default), rack or fleet.",
    "role": "Roles that the rule is for: one, a list, or `any`; default: compute.",
    "phase": "config (the default), burn-in or fabric.",
    "needs": "Rules that are judged first; if one of them fails or is unknown, this rule is unknown.",
    "each": "Every item of this collection must pass.",
    "any": "At least one item of this collection must pass.",
    "no": "No item of this collection may pass.",
    "count": "The operators apply to the number of items of this collection.",
    "where": "Selects only items that pass this test; its fact starts at the item.",
    "when": "The rule is judged only if this test of the node passes; else it is n/a.",
    "expect-count": "With each and any: the exact number of items.",
    "allow-failing": "With each: the number of items that may fail.",
    "unknown": "`minor`: a failure has the rule's severity, but an unknown verdict does not leave the node INCOMPLETE.",
    "allow-empty": "With each and any: if true, the rule is n/a when no item is selected; otherwise it fails.",
    "across": "Compares nodes of one role.",
    "agree": "The share of the expected nodes that must agree on a value.",
    "fact": "A fact of the node or, inside a selection, of the item; or a fact and its operators in one map.",
    "all-of": "Tests that must all pass.",
    "any-of": "Tests, at least one of which must pass.",
    "call": "A rule written in Python, from an installed package.",
}
"""Help texts of the keys of a rule that are not operators."""

TEST: Mapping[str, str] = {
    "is": "The fact is this value; for a list, only `none` (an empty list) is allowed.",
    "is-not": "The fact is not this value.",
    "one-of": "The fact is one of these values.",
    "none-of": "The fact is none of these values.",
    "at-least": "The fact is this or more; a quantity has a unit, as 16 GiB.",
    "at-most": "The fact is this or less; a quantity has a unit, as 95 %.",
    "above": "The fact is more than this.",
    "below": "The fact is less than this.",
    "within": "The fact differs from `of` by at most `by`, which has the same unit or is a % of `of`.",
    "spread": "The largest and smallest item differ by at most this % of the largest; with each.",
    "like": "The fact matches this glob with * and ?.",
    "matches": "The fact contains a match of this RE2 pattern.",
    "includes": "The list contains all of these texts.",
    "excludes": "The list contains none of these texts.",
    "present": "true: the fact has a value; false: it was checked, and is absent.",
    "same-as": "The fact is the same as this one: a path of the node or, with a leading dot, of the item.",
    "mask": "These bits of the number have this value.",
    "equal": "true: the fact is the same on all items; with each.",
    "warn-below": "A second threshold: below it the rule warns.",
    "warn-above": "A second threshold: above it the rule warns.",
    "steady": "true: the fact is the same in two readings of a run.",
    "rate": "The fact grows by at most this rate between two readings of a run.",
}
"""Help texts of the operators."""

ACROSS: Mapping[str, str] = {
    "role": "The role whose nodes are compared; default: compute.",
    "facts": "Facts on which the nodes must agree; a final * means all configuration and version facts below.",
    "except": "Facts that may differ.",
}
"""Help texts of the keys of `across`."""
