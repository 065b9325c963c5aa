import { AppError, startDeadline } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { readUpstreamBody } from './upstream-error.ts';

const ModelList = z.object({
  data: z
    .array(
      z.object({
        id: z.string().min(1).max(256),
        created: z.int().min(0).catch(0),
        owned_by: z.string().max(256).catch(''),
      }),
    )
    .max(10_000),
});

export type ListedModel = z.infer<typeof ModelList>['data'][number];

const listBytesMax = 4_194_304;
/** A thousand models with everything that is said of them. */
const listValuesMax = 100_000;
/** A list is no answer of a model: it comes at once, or something is wrong. */
const listTimeoutMs = 10_000;

type Request = { path: string; headers: Record<string, string> };

/** The models of an OpenAI-compatible server. Attacker-controlled; what is no list of models throws UPSTREAM_FAILED. */
export async function listModels(pool: Dispatcher, request: Request): Promise<ListedModel[]> {
  try {
    const { signal } = startDeadline({ ms: listTimeoutMs });
    const { statusCode, body } = await pool.request({ ...request, method: 'GET', signal });
    body.on('error', () => undefined);
    const bytes = await readUpstreamBody(body, listBytesMax);
    if (statusCode !== 200) throw new Error(`The model server answered ${statusCode}`);
    return ModelList.parse(parseStrictJson(bytes, { depthMax: 16, bytesMax: listBytesMax, valuesMax: listValuesMax }))
      .data;
  } catch (cause) {
    throw new AppError('UPSTREAM_FAILED', 'The model server did not list its models', { cause });
  }
}
