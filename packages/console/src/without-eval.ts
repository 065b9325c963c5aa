import { z } from 'zod';

// Must run before any contract is loaded. Otherwise zod compiles each schema at run time, which the Content Security
// Policy blocks.
z.config({ jitless: true });
