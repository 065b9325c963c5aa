export { prefixOf, serviceNames, services, type ServiceName, type ServiceRow } from './services.ts';
