import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ServiceName } from '@countersign/services';
import { root } from '../architecture/repository.ts';
import type { OpenApi } from './incompatibilities.ts';

export type Release = { version: string; documents: Record<ServiceName, OpenApi> };

/** The OpenAPI documents of the last release, as `contracts/scripts/release.mjs` wrote them. */
export function readRelease(): Release {
  const packed = readFileSync(join(root, 'contracts/released/openapi.json.gz'));
  return JSON.parse(gunzipSync(packed).toString()) as Release; // written by `release.mjs`
}
