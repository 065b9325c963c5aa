import { createClient, type AnyRoute, type Client } from '@countersign/contracts';

type Routes = Record<string, AnyRoute>;

/** Another service of this installation. */
export type Sibling = {
  /** A client that calls as this service: routes below `/internal`, and public ones. */
  own<const Asked extends Routes>(routes: Asked): Client<Asked>;
  /**
   * A client that calls as the caller of a request, with the token that the gateway added. The token grants the
   * caller's rights for a minute.
   */
  as<const Asked extends Routes>(bearer: string, routes: Asked): Client<Asked>;
};

type Address = { baseUrl: string; serviceApiKey: string; timeoutMs: number };

export function createSibling({ baseUrl, serviceApiKey, timeoutMs }: Address): Sibling {
  const as = <const Asked extends Routes>(bearer: string, routes: Asked) =>
    createClient(routes, { baseUrl, timeoutMs, headers: () => ({ authorization: `Bearer ${bearer}` }) });
  return { as, own: (routes) => as(serviceApiKey, routes) };
}
