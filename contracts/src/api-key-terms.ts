import { z } from 'zod';

/**
 * The routes that an API key opens, by scope. `read`: routes of the gateway that list and show. `write`: routes of the
 * gateway that change something. `agent`: the doors for agents, whose calls the kernel decides. The others are named by
 * the routes that they open (`keyScopes`).
 */
export const ApiKeyScope = z.enum(['read', 'write', 'agent', 'basic:read', 'basic:write', 'usage', 'runtime']);
export type ApiKeyScope = z.infer<typeof ApiKeyScope>;

/** Scopes of a key whose maker names none. The other scopes are granted by name only. */
export const defaultKeyScopes: readonly ApiKeyScope[] = ['read', 'write', 'agent'];

/**
 * The environment in which a key is used. It is part of the principal of the key, so rules and budgets can match all
 * keys of one environment.
 */
export const ApiKeyEnvironment = z.enum(['dev', 'staging', 'prod']);
export type ApiKeyEnvironment = z.infer<typeof ApiKeyEnvironment>;
