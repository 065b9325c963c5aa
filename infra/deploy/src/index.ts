export { serviceRoles } from './service-roles.ts';
