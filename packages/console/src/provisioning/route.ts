// The sheet loads with the page, and not with the console.
import '../commercial/commercial.css';

export { ProvisioningPage } from './provisioning-page.tsx';
