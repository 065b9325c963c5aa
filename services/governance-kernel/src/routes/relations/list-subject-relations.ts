import { listSubjectRelations, subjectTuplesMax } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { listTuplesOfSubject } from '../../store/tuple-store.ts';

export const listSubjectRelationsRoute = ({ reader }: Context) =>
  handleSystem(listSubjectRelations)(async ({ params: { tenant }, query: { subject } }) => {
    const tuples = await listTuplesOfSubject(reader, tenant, { subject, limit: subjectTuplesMax + 1 });
    return { data: tuples.slice(0, subjectTuplesMax), more: tuples.length > subjectTuplesMax };
  });
