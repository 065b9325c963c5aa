export { gatewayConfigFrom, gatewayVariables, type GatewayConfig } from './config.ts';
export { issueLocalSignIn } from './identity/local-sign-in.ts';
export { gatewayQueues } from './queues.ts';
export { startGateway, type StartedGateway, type StartOptions } from './start.ts';
