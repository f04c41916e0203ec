#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>
#include <algorithm>
#include <functional>
#include "grader/vgpu/timing/model.hpp"
using namespace membound::vgpu; using namespace membound::vgpu::timing; using namespace membound;
struct Case{std::string name; bool fit; double us; counters::LaunchCounters c; LaunchShape shape;};
std::vector<Case> load(std::string dump,std::string meas){
  std::vector<Case> v; std::ifstream d(dump), m(meas); std::string line;
  while(std::getline(m,line)){ auto a=line.find(','),b=line.rfind(','); Case k; k.fit=line.substr(0,a)!="hold"; k.name=line.substr(a+1,b-a-1); k.us=atof(line.c_str()+b+1);
    std::string kn; if(!(d>>kn)) break; auto&s=k.shape; d>>s.grid.x>>s.grid.y>>s.grid.z>>s.block.x>>s.block.y>>s.block.z>>s.registers_per_thread>>s.shared_bytes;
    for(auto&i:counters::all_counters()) d>>k.c.totals.*(i.member);
    size_t nk,nr; d>>nk>>nr; for(size_t i=0;i<nk;++i){counters::BlockWork w; d>>w.chain_clocks>>w.load_rounds>>w.shared_requests>>w.barriers_after_loads>>w.other_barriers>>w.issue_slots>>w.all_load_rounds>>w.all_shared_requests>>w.early_warps; k.c.work.kinds.push_back(w);}
    for(size_t i=0;i<nr;++i){counters::BlockRun r; d>>r.kind>>r.blocks; k.c.work.runs.push_back(r);} size_t ni; d>>ni; k.c.work.instructions.resize(ni); for(auto&x:k.c.work.instructions) d>>x;
    v.push_back(k);} return v;}
template<class T> double& as_double(T& x){ if constexpr(std::is_same_v<T,double>) return x; else {static double z; return z;} }
std::map<std::string,std::function<double&(Machine&)>> fields={
#define MACHINE_FIELD(type, field, meaning) {#field,[](Machine&m)->double&{ return as_double(m.field);} },
#include "grader/vgpu/timing/machine_fields.def"
#undef MACHINE_FIELD
};
int main(int argc,char**argv){ // fit MACHINE dump meas [-set f=v] [-fit f ...] [-print]
  Machine m=std::move(find_machine(argv[1])).value(); auto cases=load(argv[2],argv[3]); bool print=false; std::vector<std::string> fs;
  for(int i=4;i<argc;++i){std::string a=argv[i]; if(a=="-print"){print=true;continue;} auto e=a.find('='); if(e!=std::string::npos){fields.at(a.substr(0,e))(m)=atof(a.c_str()+e+1);} else fs.push_back(a);}
  auto err=[&](const Case&k){return std::log(predict(m,k.c,k.shape).ns/1000/k.us);};
  auto loss=[&]{double s=0;int n=0; for(auto&k:cases) if(k.fit){double e=std::abs(err(k)); s+=e<0.5?e*e:(e-0.25); ++n;} return s/n;};
  double best=loss();
  for(double step=0.3; step>0.02&&!fs.empty(); ){ bool better=false; for(auto&f:fs){ for(double g:{1+step,1/(1+step)}){ double&x=fields.at(f)(m); double old=x; x*=g; double l=loss(); if(l<best-1e-9){best=l;better=true;} else x=old; } } if(!better) step/=1.6; }
  for(auto&f:fs) std::printf("%s=%.4g ",f.c_str(),fields.at(f)(m)); std::printf("\n");
  for(bool fit:{true,false}){ std::vector<double> e; for(auto&k:cases) if(k.fit==fit) e.push_back(std::abs(std::exp(err(k))-1)); std::sort(e.begin(),e.end()); if(e.empty())continue; std::printf("%s n=%zu median %.1f%% p90 %.1f%% worst %.0f%%\n",fit?"fit ":"hold",e.size(),100*e[e.size()/2],100*e[e.size()*9/10],100*e.back()); }
  if(print) for(auto&k:cases){ auto p=predict(m,k.c,k.shape); std::printf("%-4s %-36s %9.2f %9.2f %+6.0f%%  occ%u ",k.fit?"fit":"hold",k.name.c_str(),k.us,p.ns/1000,100*(p.ns/1000/k.us-1),p.occupancy.blocks); for(size_t i=0;i<5&&i<p.bounds.size();++i) std::printf(" %s=%.1f",std::string(to_string(p.bounds[i].kind)).substr(0,9).c_str(),p.bounds[i].ns/1000); if(!k.c.work.kinds.empty()){auto&w=k.c.work.kinds[0]; std::printf(" | kinds%zu ch%lu r%lu sh%lu b%lu/%lu",k.c.work.kinds.size(),w.chain_clocks,w.load_rounds,w.shared_requests,w.barriers_after_loads,w.other_barriers);} std::printf("\n"); }
}
