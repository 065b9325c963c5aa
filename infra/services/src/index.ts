export { prefixOf, serviceNames, services, type ServiceName } from './services.ts';
