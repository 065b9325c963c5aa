import { fileURLToPath } from 'node:url';

export const fixtureServiceDir = fileURLToPath(new URL('fixture-service', import.meta.url));
