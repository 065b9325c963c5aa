import { ReceiptId } from '@countersign/contracts';
import { getPublicReceipt, HandleId } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findPublished } from '../../store/evidence-handles.ts';

const Name = HandleId.or(ReceiptId);

export const getPublicReceiptRoute = ({ database, now }: Context) =>
  handlePublic(getPublicReceipt)(async ({ params }) => {
    const name = knownId(Name, params.receiptId);
    const found = await findPublished(database.reader, { kind: 'receipt', name, now: now() });
    if (found?.kind !== 'receipt') throw notFound();
    return found.shown;
  });
