import type { AnyRoute } from '@countersign/contracts';
import type { Endpoint } from './endpoint.ts';

/** Routes that every service serves with the same code. */
type SharedRouteName = 'getOpenApi' | 'showDocs' | 'getLiveness' | 'getReadiness';

/**
 * One endpoint for each route of a service except the shared ones, under the route's name. A route without an endpoint
 * does not compile.
 */
export type Operations<Routes, Context> = {
  readonly [Name in Exclude<keyof Routes, SharedRouteName>]: (context: Context) => Endpoint;
};

/** The endpoints of a service. Throws when the route of an entry is not the route that its name states. */
export function endpointsOf<Routes extends Readonly<Record<string, AnyRoute>>, Context>(
  routes: Routes,
  operations: Operations<Routes, Context>,
  context: Context,
): Endpoint[] {
  const entries = Object.entries<(context: Context) => Endpoint>(operations);
  return entries.map(([name, operation]) => {
    const endpoint = operation(context);
    const { operation: answered } = endpoint.route;
    if (answered !== routes[name]?.operation) throw new Error(`The entry ${name} answers the route ${answered}`);
    return endpoint;
  });
}
