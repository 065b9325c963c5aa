export { startSystem, type StartedSystem } from './started-system.ts';
