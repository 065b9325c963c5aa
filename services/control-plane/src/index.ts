export { controlPlaneConfigFrom, controlPlaneVariables } from './config.ts';
export { controlPlaneQueues } from './queues.ts';
export { startControlPlane, type StartedControlPlane } from './start.ts';
export { beginLocalLogin } from './sessions/local-login.ts';
