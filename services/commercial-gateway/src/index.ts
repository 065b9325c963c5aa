export { commercialConfigFrom, commercialVariables } from './config.ts';
export { startCommercialGateway, type StartedCommercialGateway } from './start.ts';
export { openCommercialDatabase } from './store/database.ts';
