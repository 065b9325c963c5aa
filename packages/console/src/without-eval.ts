import { z } from 'zod';

// Stands before every contract: zod would try to compile each object as it is made, and the policy of contents refuses that.
z.config({ jitless: true });
