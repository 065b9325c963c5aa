export { commercialConfigFrom, commercialVariables } from './config.ts';
export { commercialQueues } from './queues.ts';
export { startCommercialGateway, type StartedCommercialGateway } from './start.ts';
