import { z } from 'zod';

// Imported before every contract: zod would compile each object when it is made, and the policy of contents refuses that.
z.config({ jitless: true });
