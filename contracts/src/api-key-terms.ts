import { z } from 'zod';

/**
 * The scopes of an API key, which determine its routes. `read`: routes of the gateway that read. `write`: routes of the
 * gateway that change something. `agent`: the doors for agents, whose calls the kernel decides. The other scopes open
 * the routes that name them in `keyScopes`.
 */
export const ApiKeyScope = z.enum(['read', 'write', 'agent', 'basic:read', 'basic:write', 'usage', 'runtime']);
export type ApiKeyScope = z.infer<typeof ApiKeyScope>;

/** Scopes of a key that is created without `scopes`. The other scopes must be named. */
export const defaultKeyScopes: readonly ApiKeyScope[] = ['read', 'write', 'agent'];

/**
 * The environment in which a key is used. It is part of the principal of the key, so rules and budgets can match all
 * keys of one environment.
 */
export const ApiKeyEnvironment = z.enum(['dev', 'staging', 'prod']);
export type ApiKeyEnvironment = z.infer<typeof ApiKeyEnvironment>;
