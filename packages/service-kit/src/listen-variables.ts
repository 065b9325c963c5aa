import { z } from 'zod';
import { optionalPort, port } from './config-fields.ts';

/**
 * The addresses of a service. `healthPort` is `null` when health is served on the main port only, and metrics nowhere.
 */
export type ListenConfig = Readonly<{ host: string; port: number; healthPort: number | null }>;

type Listening<Prefix extends string> = { prefix: Prefix; title: string; port: number };
type Variables<Prefix extends string> = Record<`${Prefix}_HOST`, z.ZodDefault<z.ZodString>> &
  Record<`${Prefix}_PORT`, ReturnType<typeof port>> &
  Record<`${Prefix}_HEALTH_PORT`, ReturnType<typeof optionalPort>>;
type Read<Prefix extends string> = Readonly<
  Record<`${Prefix}_HOST`, string> & Record<`${Prefix}_PORT`, number> & Partial<Record<`${Prefix}_HEALTH_PORT`, number>>
>;

/** The variables `<prefix>_HOST`, `<prefix>_PORT` and `<prefix>_HEALTH_PORT` of a service. */
export function listenVariables<Prefix extends string>({ prefix, title, port: fallback }: Listening<Prefix>) {
  return {
    [`${prefix}_HOST`]: z.string().default('127.0.0.1').describe(`Address that the ${title} listens on.`),
    [`${prefix}_PORT`]: port(fallback).describe(`Port of the ${title}.`),
    [`${prefix}_HEALTH_PORT`]: optionalPort().describe(
      `Separate port for health and metrics. Without it, the port of the ${title} serves health, and metrics are not served.`,
    ),
  } as Variables<Prefix>; // TypeScript widens computed names to `string`
}

/** The values of these variables, under the names of the configuration. */
export function listenConfigOf<Prefix extends string>(prefix: Prefix, read: Read<Prefix>): ListenConfig {
  const values: Readonly<Record<string, unknown>> = read; // TypeScript cannot resolve members under a generic name
  const healthPort = values[`${prefix}_HEALTH_PORT`];
  return {
    host: String(values[`${prefix}_HOST`]),
    port: Number(values[`${prefix}_PORT`]),
    healthPort: typeof healthPort === 'number' ? healthPort : null,
  };
}
