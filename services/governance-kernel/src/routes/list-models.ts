import { AppError } from '@countersign/contracts';
import { listModels } from '@countersign/contracts/governance-kernel';
import type { ModelUpstream } from '../chat/model-upstream.ts';
import { handleTenant } from '../handle.ts';

type ListModelsParts = {
  /** Null: no model server is configured. */
  modelList: ModelUpstream['listModels'] | null;
};

/** What the model server has. Whether a caller may use a model is decided when it does. */
export const listModelsRoute = ({ modelList }: ListModelsParts) =>
  handleTenant(listModels)(async () => {
    if (modelList === null) throw new AppError('UPSTREAM_NOT_CONFIGURED', 'No model server is configured');
    const data = (await modelList()).map((model) => ({ ...model, object: 'model' as const }));
    return { object: 'list' as const, data };
  });
