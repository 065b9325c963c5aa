export { commercialRoutes, controlPlaneRoutes, gatewayRoutes, kernelRoutes } from './service-routes.ts';
export { forwarding, type Forwarding } from './forwarding.ts';
export { createKernelClient, type KernelClient } from './kernel-client.ts';
