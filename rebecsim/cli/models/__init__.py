"""Commands about models: check, generate, simulate, explore, replay, races, step, live, draw."""
