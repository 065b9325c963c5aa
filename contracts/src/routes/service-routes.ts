import * as commercialGateway from '../commercial-gateway/index.ts';
import * as controlPlane from '../control-plane/index.ts';
import * as gateway from '../gateway/index.ts';
import * as kernel from '../governance-kernel/index.ts';
import type { AnyRoute } from '../route.ts';

/** The routes among the exports of a module. */
type RoutesOf<Module> = {
  readonly [Name in keyof Module as Module[Name] extends AnyRoute ? Name : never]: Module[Name];
};

/** Every route of the gateway, under the name of its method in a typed client. */
export const gatewayRoutes = routesOf(gateway);
/** Every route of the governance kernel, under the name of its method in a typed client. */
export const kernelRoutes = routesOf(kernel);
/** Every route of the control plane, under the name of its method in a typed client. */
export const controlPlaneRoutes = routesOf(controlPlane);
/** Every route of the commercial gateway, under the name of its method in a typed client. */
export const commercialRoutes = routesOf(commercialGateway);

function routesOf<Module extends object>(module: Module): RoutesOf<Module> {
  const routes = Object.entries(module).filter(([, value]) => isRoute(value));
  return Object.fromEntries(routes) as RoutesOf<Module>; // isRoute keeps the same exports as RoutesOf
}

function isRoute(value: unknown): value is AnyRoute {
  return typeof value === 'object' && value !== null && 'operation' in value && 'path' in value && 'auth' in value;
}
