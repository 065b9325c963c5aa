import { getAuthzenConfiguration } from '@countersign/contracts/governance-kernel';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';

export const getAuthzenConfigurationRoute = ({ config }: Context) => {
  const base = config.publicUrl.replace(/\/+$/, '');
  return handlePublic(getAuthzenConfiguration)(() => ({
    policy_decision_point: base,
    access_evaluation_endpoint: `${base}/access/v1/evaluation`,
    access_evaluations_endpoint: `${base}/access/v1/evaluations`,
    search_subject_endpoint: `${base}/access/v1/search/subject`,
    search_resource_endpoint: `${base}/access/v1/search/resource`,
    search_action_endpoint: `${base}/access/v1/search/action`,
  }));
};
