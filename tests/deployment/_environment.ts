import { localServices } from '@countersign/local';
import { serviceNames, type ServiceName } from '@countersign/services';

/**
 * The configuration that a service reads from an environment. Throws a ConfigError, as the start of the service would.
 */
export function readEnvironment(name: ServiceName, environment: Record<string, string>): object {
  return localServices[name].configFrom(environment);
}

/** The service in an image. `null` for other images. */
export function serviceOfImage(image: string): ServiceName | null {
  return serviceNames.find((name) => image.split(':')[0]?.endsWith(`/${name}`) === true) ?? null;
}

/** The environment that the image sets. */
export const ofImage = { NODE_ENV: 'production' };

/** The variables in a file of `NAME=value` lines, as compose reads it. */
export function environmentIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** The given environment, with paths of secrets in `folder` instead of the folder `mountedAt` of a container. */
export function withSecretsIn(folder: string, mountedAt: string, environment: Record<string, string>) {
  const moved = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace(`${mountedAt}/`, `${folder}/`),
  ]);
  return Object.fromEntries(moved) as Record<string, string>;
}
