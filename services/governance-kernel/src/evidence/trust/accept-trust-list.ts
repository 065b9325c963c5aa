import { AppError, type Digest, type PrincipalId, type ReceiptId } from '@countersign/contracts';
import type { SignedTrustList } from '@countersign/contracts/governance-kernel';
import { receiptIdOf } from '@countersign/receipts';
import { VerificationError, verifyNextTrustList, type VerifiedTrustList } from '@countersign/verifier';
import { keyFaultAt, keyFaultText } from '../../ledger/key-fault.ts';
import { put, wanted } from '../../ledger/control.ts';
import { ownSession, systemTenant } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import { newestList } from './newest-list.ts';
import { trustLists, trustScope, type TrustListRow } from '../../controls/evidence/trust-lists.ts';

type Deps = SettingDeps & {
  root: string | null;
  /** The keys that this kernel signs with. */
  ownKeyIds: readonly string[];
  /** The keys that kernels published before there was a list. */
  listRows(): Promise<TrustKeyRow[]>;
};

type Offered = { trust: SignedTrustList; change: 'add' | 'revoke'; by: PrincipalId };

type AcceptedTrustList = { version: number; trust_hash: Digest; key_ids: string[]; receipt_id: ReceiptId };

/** How far a list may be dated ahead of this clock, since it is signed on another machine. */
const clockSkewMaxMs = 60_000;

/**
 * Accepts the next version of the trust list and seals the change. If the newest version is sent again, nothing
 * changes. Throws NOT_FOUND without a root, and INVALID_REQUEST for a list that the root did not sign, that undoes an
 * entry, or whose date is in the future. Throws ILLEGAL_TRANSITION for a list of another version or change, or one
 * under which this kernel could not sign.
 */
export async function acceptTrustList(deps: Deps, { trust, change, by }: Offered): Promise<AcceptedTrustList> {
  const { root, provider } = deps;
  if (root === null)
    throw new AppError(
      'NOT_FOUND',
      'This kernel has no trust root. Configure the public half of your offline root key.',
    );
  const published = await deps.listRows();
  // the system's tenant, for entries of no tenant
  const chain = { tenant: systemTenant, session: ownSession('trust') };
  const beganMs = deps.clock().getTime();
  return await deps.ledger.submit({
    chain,
    wants: [wanted(trustLists, trustScope)],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, beganMs);
      const rows = batch.rows(trustLists, trustScope);
      const previous = newestList(
        rows.map(({ document }) => document),
        { root, provider },
      );
      if (previous !== null && isSame(previous, trust)) return () => acceptedOf(previous, rowOf(previous, rows), []);
      const next = nextList({ trust, root, provider, previous });
      const key_ids = changedKeys(next, { previous, change });
      assertUsable(next, { ...deps, nowMs, published: previous === null ? published : [] });
      const setting = { version: next.list.version, trust_hash: next.hash, key_ids };
      const statement = settingStatement(deps, {
        ...{ ...chain, by, nowMs, setting, kind: 'trust', action: `trust.keys.${change}` },
        resource: `trust:${next.list.version}`,
      });
      const row: TrustListRow = {
        ...{ scope: trustScope, version: next.list.version, document: trust, acceptedAtMs: nowMs },
        hash: next.hash,
        receiptId: receiptIdOf(statement.ulid),
      };
      batch.seal(statement, () => ({ changes: [put(trustLists, row)] }));
      return () => acceptedOf(next, row, key_ids);
    },
  });
}

type Next = Pick<Deps, 'provider'> & { trust: SignedTrustList; root: string; previous: VerifiedTrustList | null };

function nextList({ trust, previous, ...pinned }: Next): VerifiedTrustList {
  const wantedVersion = (previous?.list.version ?? 0) + 1;
  try {
    return verifyNextTrustList(trust, { ...pinned, previous });
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const isLate = error.code === 'MALFORMED' && trust.list.version !== wantedVersion;
    throw new AppError(isLate ? 'ILLEGAL_TRANSITION' : 'INVALID_REQUEST', error.message, { param: 'trust' });
  }
}

/**
 * The keys that a list adds or revokes. Throws ILLEGAL_TRANSITION for a list that does both, or not what the caller
 * requested.
 */
function changedKeys(
  { listed }: VerifiedTrustList,
  { previous, change }: { previous: VerifiedTrustList | null; change: Offered['change'] },
): string[] {
  const existing = new Map(previous?.listed.map((key) => [key.key_id, key.revoked_at]));
  const added = listed.filter(({ key_id: id }) => !existing.has(id));
  const revoked = listed.filter(({ key_id: id, revoked_at: at }) => existing.has(id) && existing.get(id) !== at);
  const [changed, second] = change === 'add' ? [added, revoked] : [revoked, added];
  if (changed.length > 0 && second.length === 0) return changed.map(({ key_id: id }) => id);
  const problem =
    change === 'add'
      ? 'The list adds no key, or it revokes one as well'
      : 'The list revokes no key, or it adds one as well';
  throw new AppError('ILLEGAL_TRANSITION', problem, { param: 'trust' });
}

type Usable = Pick<Deps, 'ownKeyIds'> & { nowMs: number; published: readonly TrustKeyRow[] };

/**
 * This kernel must be able to continue under the list: nothing it seals now, including this change, may become
 * untrusted.
 */
function assertUsable({ list, keys }: VerifiedTrustList, { ownKeyIds, nowMs, published }: Usable): void {
  if (Date.parse(list.issued_at) > nowMs + clockSkewMaxMs)
    throw new AppError(
      'INVALID_REQUEST',
      `The list is dated ${list.issued_at}, which is in the future. Check the clock`,
      {
        param: 'trust',
      },
    );
  const absent = published.find(({ key_id: id }) => !keys.some((key) => key.key_id === id));
  if (absent !== undefined)
    throw unusable(`The list lacks the key ${absent.key_id}, which was published here. Add this key to the list.`);
  for (const id of ownKeyIds) {
    const key = keys.find(({ key_id: listed }) => listed === id);
    const fault = keyFaultAt(key && windowOf(key), new Date(nowMs));
    if (fault !== null)
      throw unusable(
        `The key ${id}, with which this kernel signs now, ${keyFaultText[fault]} under this list. Replace the key of the kernel first.`,
      );
  }
}

function windowOf(key: VerifiedTrustList['keys'][number]) {
  const dateOf = (at: string | undefined) => (at === undefined ? null : new Date(at));
  const { valid_from: from, valid_until: until, revoked_at: revoked } = key;
  return { valid_from: new Date(from), valid_until: dateOf(until), revoked_at: dateOf(revoked) };
}

function unusable(problem: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', problem, { param: 'trust' });
}

function isSame({ signed }: VerifiedTrustList, trust: SignedTrustList): boolean {
  return signed.signature.value === trust.signature.value && signed.list.version === trust.list.version;
}

function rowOf({ hash }: VerifiedTrustList, rows: readonly TrustListRow[]): TrustListRow {
  const row = rows.find((one) => one.hash === hash);
  if (row === undefined) throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'A stored trust list does not match its hash');
  return row;
}

function acceptedOf(
  { list }: VerifiedTrustList,
  { hash, receiptId }: TrustListRow,
  key_ids: string[],
): AcceptedTrustList {
  return { version: list.version, trust_hash: hash, key_ids, receipt_id: receiptId };
}
