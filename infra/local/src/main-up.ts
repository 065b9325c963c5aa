import { up } from './up.ts';

await up();
