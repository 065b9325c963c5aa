import { createClient, type AnyRoute, type Client } from '@countersign/contracts';

type Routes = Record<string, AnyRoute>;

/** Another service of ours. */
export type Sibling = {
  /** Asked as this service, on routes below `/internal`. */
  own<const Asked extends Routes>(routes: Asked): Client<Asked>;
  /** Asked as a person, by the bearer that came with their request: it opens what they may do there, for a minute. */
  as<const Asked extends Routes>(bearer: string, routes: Asked): Client<Asked>;
};

type Address = { baseUrl: string; serviceApiKey: string; timeoutMs: number };

export function createSibling({ baseUrl, serviceApiKey, timeoutMs }: Address): Sibling {
  const as = <const Asked extends Routes>(bearer: string, routes: Asked) =>
    createClient(routes, { baseUrl, timeoutMs, headers: () => ({ authorization: `Bearer ${bearer}` }) });
  return { as, own: (routes) => as(serviceApiKey, routes) };
}
