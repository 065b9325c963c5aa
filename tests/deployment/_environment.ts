import { controlPlaneConfigFrom } from '@countersign/control-plane';
import { gatewayConfigFrom } from '@countersign/gateway';
import { kernelConfigFrom } from '@countersign/governance-kernel';

/** What a service of the image makes of an environment; throws ConfigError as its start would. */
export const readers = {
  'governance-kernel': kernelConfigFrom,
  gateway: gatewayConfigFrom,
  'control-plane': controlPlaneConfigFrom,
};
export type Deployed = keyof typeof readers;

/** As the image sets it. */
export const ofImage = { NODE_ENV: 'production' };

/** What is in a file of `NAME=value` lines, as compose reads it. */
export function environmentIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

/** The same environment, whose secrets lie in another folder than in a container. */
export function withSecretsIn(folder: string, mountedAt: string, environment: Record<string, string>) {
  const moved = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace(`${mountedAt}/`, `${folder}/`),
  ]);
  return Object.fromEntries(moved) as Record<string, string>;
}
