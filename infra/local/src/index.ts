export { configurationPage } from './configuration-page.ts';
export { filesystemServer } from './mcp-servers.ts';
export { startSystem, type StartedSystem } from './started-system.ts';
