import { createClient, type AnyRoute, type Client } from '@countersign/contracts';

type Routes = Record<string, AnyRoute>;

/** Another service of the installation. */
export type Sibling = {
  /** Calls routes below `/internal` as this service. */
  own<const Called extends Routes>(routes: Called): Client<Called>;
  /** Calls routes as the person whose request brought the bearer. It is valid for one minute. */
  as<const Called extends Routes>(bearer: string, routes: Called): Client<Called>;
};

type Address = { baseUrl: string; serviceApiKey: string; timeoutMs: number };

export function createSibling({ baseUrl, serviceApiKey, timeoutMs }: Address): Sibling {
  const as = <const Called extends Routes>(bearer: string, routes: Called) =>
    createClient(routes, { baseUrl, timeoutMs, headers: () => ({ authorization: `Bearer ${bearer}` }) });
  return { as, own: (routes) => as(serviceApiKey, routes) };
}
