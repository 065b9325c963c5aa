import { localSettings } from './config.ts';
import { up } from './up.ts';

await up(localSettings());
