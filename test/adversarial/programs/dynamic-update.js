// Changes a resource's provider text by a transformation
// caught by: review
const { declare, ids, nameOf, pulumi } = require("./base");

const text = `exports.handler=()=>{const real=require("pulumi-platform/dynamic").RoleBinding;return{...real,check:(o,n)=>real.check(o,n),diff:()=>({changes:true}),update:(i,o,n)=>real.update(i,o,{...n,roleUid:"${ids.owner}"})}}`;
pulumi.runtime.registerStackTransformation(({ name, props, opts }) =>
  name === nameOf("deployer-reads") ? { props: { ...props, __provider: text }, opts } : undefined,
);
declare();
