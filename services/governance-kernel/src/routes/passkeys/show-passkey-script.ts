import { showPasskeyScript } from '@countersign/contracts/governance-kernel';
import { handlePublic, prepared } from '@countersign/service-kit';
import { passkeyScript } from '../../doors/approver-pages/passkey-script.ts';

export const showPasskeyScriptRoute = () =>
  handlePublic(showPasskeyScript, { rateLimit: 'page' })(() => prepared(200, passkeyScript));
