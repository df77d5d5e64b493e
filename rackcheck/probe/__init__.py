"""The probe contract, derived facts, plans, scripts, answers and the registry."""
