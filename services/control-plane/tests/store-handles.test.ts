// Evidence handles can be found and listed as stored, until they expire or are revoked.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { instantOf, ApprovalId, Digest, ReceiptId } from '@countersign/contracts';
import { HandleId, ReplayFindings, ReplayId } from '@countersign/contracts/control-plane';
import type { Tx } from '../src/store/database.ts';
import * as handles from '../src/store/evidence-handles.ts';
import { ada, workspaceId } from './_listed.ts';
import { at, now, numbered, openUndone } from './_undone.ts';

let opened: Awaited<ReturnType<typeof openUndone>>;
beforeAll(async () => {
  opened = await openUndone();
});
afterAll(() => opened?.close());

const hash = Digest.parse(`sha256:${'a'.repeat(64)}`);
const row = { ALLOW: 1, DENY: 0, ESCALATE: 0, UNREPLAYABLE: 0 };
const matrix = { ALLOW: row, DENY: row, ESCALATE: row };
const findings = ReplayFindings.parse({
  ...{ type: 'countersign.replay.v1', policy: 'draft', policy_hash: hash, tree_size: 9, decisions: 7 },
  ...{ is_narrowed: false, is_whole: true, unverifiable: 0, matrix, pairs: [], first_difference: null },
  replay_hash: hash,
});
const replayId = ReplayId.parse(`rpl_${'0'.repeat(22)}`);

describe('an evidence handle', () => {
  const times = { requested_at: instantOf(now), updated_at: instantOf(now), published_at: instantOf(now) };
  const votes = { state: 'approved', quorum: 1, approved: 1, method: 'votes', ...times, ceremony_hash: hash } as const;
  const approval = {
    kind: 'approval' as const,
    shown: { approval_id: ApprovalId.parse(numbered('apr', 1)), ...votes },
  };
  const replay = { kind: 'replay' as const, shown: { ...findings, replay_id: replayId, made_at: instantOf(now) } };
  const receiptId = ReceiptId.parse(numbered('rcp', 1));
  const handleOf = (number: number, changed: Partial<handles.StoredHandle> = {}): handles.StoredHandle =>
    ({
      ...{ id: HandleId.parse(`hdl_${String(number).padStart(22, '0')}`), workspaceId, ...approval, receiptId },
      ...{ createdBy: ada, createdAt: at(number), expiresAt: at(50 + number), ...changed },
    }) as handles.StoredHandle; // its kind and its object change together
  const publish = async (tx: Tx, stored: readonly handles.StoredHandle[]) => {
    await tx.publicProof.create({ data: { workspaceId, setting: 'published', updatedAt: now } });
    for (const handle of stored) await handles.insertHandle(tx, handle);
  };

  it('is found by its ID as it was stored; if it has a receipt, the public also finds it by its ID or by the ID of its object, which gives the handle that expires last', async () => {
    const [first, second, hidden, ofReplay] = [
      ...[handleOf(1), handleOf(2), handleOf(3, { receiptId: null }), handleOf(4, replay)],
    ] as const;
    const found = await opened.undone(async (tx) => {
      await publish(tx, [first, second, hidden, ofReplay]);
      const find = (id: HandleId, time = now) => handles.findHandle(tx, { id, workspaceId, now: time });
      const shown = (name: HandleId | ApprovalId | ReplayId, kind: 'approval' | 'replay' = 'approval') =>
        handles.findPublished(tx, { kind, name, now });
      const before = [
        await find(first.id),
        await find(hidden.id),
        await find(ofReplay.id),
        await find(first.id, at(51)),
      ];
      const published = [
        ...[await shown(first.id), await shown(approval.shown.approval_id), await shown(hidden.id)],
        ...[
          await shown(ofReplay.id, 'replay'),
          await shown(replay.shown.replay_id, 'replay'),
          await shown(ofReplay.id),
        ],
      ];
      await handles.revokeHandle(tx, first.id, now);
      return [before, published, [await find(first.id), await shown(first.id)]];
    });
    expect(found).toEqual([
      [first, hidden, ofReplay, null],
      [first, second, null, ofReplay, ofReplay, null],
      [null, null],
    ]);
  });

  it('is listed newest first, page by page, until it expires or is revoked', async () => {
    const same = { createdAt: at(2) };
    const [revoked, over] = [handleOf(8), handleOf(9, { expiresAt: now })];
    const pages = await opened.undone(async (tx) => {
      await publish(tx, [handleOf(2), handleOf(1), handleOf(3, same), handleOf(4), revoked, over]);
      await handles.revokeHandle(tx, revoked.id, now);
      const page = (cursor?: string) => handles.listHandles(tx, { workspaceId, now, limit: 2, cursor });
      const first = await page();
      const second = await page(first.nextCursor ?? 'missing');
      return [first, second].map(({ handles: listed, nextCursor }) => ({ listed, isLast: nextCursor === null }));
    });
    const named = (number: number, changed = {}) => {
      const { shown: _, ...rest } = handleOf(number, changed);
      return { ...rest, objectId: approval.shown.approval_id };
    };
    expect(pages).toEqual([
      { listed: [named(4), named(3, same)], isLast: false },
      { listed: [named(2), named(1)], isLast: true },
    ]);
  });

  it.each([
    '',
    'x',
    Buffer.from(`${instantOf(now)} x`).toString('base64url'),
    Buffer.from('x hdl_1').toString('base64url'),
  ])('is not listed with the invalid cursor %j', async (cursor) => {
    const refused = opened.undone((tx) => handles.listHandles(tx, { workspaceId, now, limit: 2, cursor }));
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'cursor' });
  });
});
