export { gatewayConfigFrom, type GatewayConfig } from './config.ts';
export type { Context as GatewayContext, ContextOverrides as GatewayOverrides } from './context.ts';
export { issueLocalSignIn, type LocalSignIn } from './identity/local-sign-in.ts';
export { startGateway, type StartedGateway, type StartOptions } from './start.ts';
