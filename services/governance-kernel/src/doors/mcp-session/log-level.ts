import { z } from 'zod';

/** The log levels of the protocol, from the lowest to the highest. */
export const LogLevel = z.enum(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
export type LogLevel = z.infer<typeof LogLevel>;
