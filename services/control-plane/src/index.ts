export { controlPlaneConfigFrom, controlPlaneVariables } from './config.ts';
export { shippedConnectors } from './connectors/shipped-connectors.ts';
export { signCatalogue } from './connectors/sign-catalogue.ts';
export { controlPlaneQueues } from './queues.ts';
export { startControlPlane, type StartedControlPlane } from './start.ts';
export { beginLocalLogin } from './sessions/local-login.ts';
