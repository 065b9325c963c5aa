import { fileURLToPath } from 'node:url';

export const serviceDir = fileURLToPath(new URL('..', import.meta.url));
