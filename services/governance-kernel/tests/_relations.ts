import type { KernelClient, TestKernel } from './_kernel.ts';

/** Parses `object#relation@subject`, the notation of relation paths. */
export function tupleOf(text: string): { object: string; relation: string; subject: string } {
  const [, object = '', relation = '', subject = ''] = /^([^#]+)#([^@]+)@(.+)$/s.exec(text) ?? [];
  return { object, relation, subject };
}

type Changes = { writes?: string[]; deletes?: string[]; [member: string]: unknown };

/** Writes and deletes tuples in the notation of `tupleOf`. */
export async function change(
  { system }: Pick<TestKernel, 'system'>,
  tenant: string,
  { writes = [], deletes = [], ...rest }: Changes,
) {
  const body = { tenant_id: tenant, writes: writes.map(tupleOf), deletes: deletes.map(tupleOf), ...rest };
  return (await system.writeRelationships({ body: body as never })).body; // the schema brands these strings and fills in the defaults
}

export async function check(client: KernelClient, question: string) {
  return (await client.checkRelation({ body: tupleOf(question) })).body; // as above
}
