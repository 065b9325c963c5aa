import {
  createComplianceReport,
  createScimToken,
  getBillingAccount,
  getComplianceReport,
  getEntitlements,
  getIdentity,
  getInvoice,
  getUsage,
  grantOrgCredit,
  listAdministeredOrgs,
  listBillingPlans,
  listComplianceReports,
  listInvoices,
  listLedger,
  putBudget,
  putIdentity,
  putOrgSettings,
  putSubscription,
  revokeScimToken,
  startCheckout,
} from '@countersign/contracts/commercial-gateway';
import { sessionClient } from '../api/clients.ts';

/** Routes of the commercial gateway. They are about an organisation, and load with the pages that use them. */
export const commercial = sessionClient({
  createComplianceReport,
  createScimToken,
  getBillingAccount,
  getComplianceReport,
  getEntitlements,
  getIdentity,
  getInvoice,
  getUsage,
  grantOrgCredit,
  listAdministeredOrgs,
  listBillingPlans,
  listComplianceReports,
  listInvoices,
  listLedger,
  putBudget,
  putIdentity,
  putOrgSettings,
  putSubscription,
  revokeScimToken,
  startCheckout,
});

/** A read that the page makes by itself, so it never asks the person for a proof of presence. */
export const quiet = sessionClient({ listAdministeredOrgs }, { asksPresence: false });
