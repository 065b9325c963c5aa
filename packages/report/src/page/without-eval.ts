import { z } from 'zod';

// Must be imported before all contracts. Without it, zod compiles each object schema with eval, which the content
// security policy refuses.
z.config({ jitless: true });
