export { configurationPage } from './configuration-page.ts';
export { localServices } from './local-services.ts';
export { filesystemServer } from './mcp-servers.ts';
export { freePort } from './ports.ts';
export { embeddedUrl } from './running-server.ts';
export { startSystem, type StartedSystem } from './started-system.ts';
