import { adminKey, type TestKernel } from './_kernel.ts';

export type Pack = { text: string; hash: string | null; lines: string[] };

/** Exports a pack as text. The typed client would parse its lines, but the hash covers the exact text. */
export async function packOf({ kernel }: TestKernel, request: object = {}, tenant = 'acme'): Promise<Pack> {
  const response = await askPack(kernel.url, request, tenant);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return { text, hash: response.headers.get('x-gov-evidence-hash'), lines: text.trimEnd().split('\n') };
}

export function askPack(url: string, request: object, tenant = 'acme'): Promise<Response> {
  return fetch(`${url}/api/v1/evidence/export`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${adminKey}`,
      'content-type': 'application/json',
      'x-gov-tenant-id': tenant,
    },
    body: JSON.stringify(request),
  });
}
