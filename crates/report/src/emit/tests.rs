use super::*;
use expect_test::expect;
use fathom_model::Catalog;

fn emitted(target: &str, tool: Tool) -> String {
    let layout = Layout::named(target, Catalog::azure()).expect(target);
    emit(&layout, tool, "eastus").unwrap_or_else(|why| format!("error: {why}\n"))
}

const CHOSEN: &str = "azure/2xPremiumV2,size=100g,iops=4000,mbps=200,vm=Standard_D8s_v5";

#[test]
fn scripts_of_az_make_disks_and_a_machine() {
    expect![[r##"
        #!/usr/bin/env bash
        # azure/2xPremiumV2,size=100g,iops=4000,mbps=200,vm=Standard_D8s_v5
        set -euo pipefail
        : "${GROUP:?set GROUP}"
        : "${MACHINE:?set MACHINE}"
        : "${IMAGE:?set IMAGE}"
        : "${ZONE:?set ZONE}"
        az vm create --resource-group "$GROUP" --name "$MACHINE" --location eastus --zone "$ZONE" \
          --size Standard_D8s_v5 --image "$IMAGE" --generate-ssh-keys
        for lun in $(seq 0 1); do
          az disk create --resource-group "$GROUP" --name "data-$lun" --location eastus --zone "$ZONE" \
            --sku PremiumV2_LRS --size-gb 100 --disk-iops-read-write 4000 --disk-mbps-read-write 200
          az vm disk attach --resource-group "$GROUP" --vm-name "$MACHINE" --name "data-$lun" --lun "$lun" \
            --caching None
        done
    "##]]
    .assert_eq(&emitted(CHOSEN, Tool::CommandLine));
    expect![[r##"
        #!/usr/bin/env bash
        # azure/P40,vm=Standard_DS3_v2,cache=ro
        set -euo pipefail
        : "${GROUP:?set GROUP}"
        : "${MACHINE:?set MACHINE}"
        : "${IMAGE:?set IMAGE}"
        az vm create --resource-group "$GROUP" --name "$MACHINE" --location eastus \
          --size Standard_DS3_v2 --image "$IMAGE" --generate-ssh-keys
        for lun in $(seq 0 0); do
          az disk create --resource-group "$GROUP" --name "data-$lun" --location eastus \
            --sku Premium_LRS --size-gb 2048
          az vm disk attach --resource-group "$GROUP" --vm-name "$MACHINE" --name "data-$lun" --lun "$lun" \
            --caching ReadOnly
        done
    "##]]
    .assert_eq(&emitted(
        "azure/P40,vm=Standard_DS3_v2,cache=ro",
        Tool::CommandLine,
    ));
    assert!(emitted("azure/P30,burst=on-demand", Tool::CommandLine).contains("--enable-bursting true"));
    assert!(
        emitted("azure/Ultra,vm=Standard_D8s_v5", Tool::CommandLine).contains("--ultra-ssd-enabled true")
    );
}

#[test]
fn terraform_has_the_disks_and_their_attachment() {
    expect![[r##"
        # azure/2xPremiumV2,size=100g,iops=4000,mbps=200,vm=Standard_D8s_v5
        # The machine: size = "Standard_D8s_v5".

        variable "resource_group_name" {
          type = string
        }

        variable "virtual_machine_id" {
          type = string
        }

        variable "zone" {
          type = string
        }

        resource "azurerm_managed_disk" "data" {
          count                = 2
          name                 = "data-${count.index}"
          location             = "eastus"
          resource_group_name  = var.resource_group_name
          create_option        = "Empty"
          storage_account_type = "PremiumV2_LRS"
          disk_size_gb         = 100
          disk_iops_read_write = 4000
          disk_mbps_read_write = 200
          zone                 = var.zone
        }

        resource "azurerm_virtual_machine_data_disk_attachment" "data" {
          count              = 2
          managed_disk_id    = azurerm_managed_disk.data[count.index].id
          virtual_machine_id = var.virtual_machine_id
          lun                = count.index
          caching            = "None"
        }
    "##]]
    .assert_eq(&emitted(CHOSEN, Tool::Terraform));
}

#[test]
fn a_storage_class_is_of_one_disk() {
    expect![[r##"
        # azure/PremiumV2,size=100g,iops=4000,mbps=200
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata:
          name: premiumv2
        provisioner: disk.csi.azure.com
        parameters:
          skuName: PremiumV2_LRS
          cachingMode: None
          DiskIOPSReadWrite: "4000"
          DiskMBpsReadWrite: "200"
        reclaimPolicy: Delete
        allowVolumeExpansion: true
        volumeBindingMode: WaitForFirstConsumer
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata:
          name: data
        spec:
          storageClassName: premiumv2
          accessModes:
            - ReadWriteOnce
          resources:
            requests:
              storage: 100Gi
    "##]]
    .assert_eq(&emitted(
        "azure/PremiumV2,size=100g,iops=4000,mbps=200",
        Tool::StorageClass,
    ));
    expect![[r#"
        error: a StorageClass makes volumes of one disk, and this layout stripes 2: plan with --raid0-max 1, or emit az or terraform
    "#]].assert_eq(&emitted(CHOSEN, Tool::StorageClass));
}

#[test]
fn mdadm_stripes_with_the_layouts_chunk() {
    expect![[r#"
        # azure/2xP15,vm=Standard_DS3_v2,chunk=64k
        # All that is on these disks is lost.
        mdadm --create /dev/md/data --level=0 --raid-devices=2 --chunk=64K \
          /dev/disk/azure/data/by-lun/0 \
          /dev/disk/azure/data/by-lun/1
    "#]]
    .assert_eq(&emitted("azure/2xP15,vm=Standard_DS3_v2,chunk=64k", Tool::Mdadm));
    expect![[r#"
        # azure/P15: one disk, nothing to stripe. It is /dev/disk/azure/data/by-lun/0.
    "#]]
    .assert_eq(&emitted("azure/P15", Tool::Mdadm));
}

#[test]
fn other_clouds_have_their_resources() {
    let gp3 = "aws/2xgp3,size=500g,iops=6000,mbps=262.144,vm=m6i.xlarge";
    expect![[r##"
        # aws/2xgp3,size=500g,iops=6000,mbps=262.144,vm=m6i.xlarge
        # The instance: instance_type = "m6i.xlarge".

        variable "availability_zone" {
          type = string
        }

        variable "instance_id" {
          type = string
        }

        resource "aws_ebs_volume" "data" {
          count             = 2
          availability_zone = var.availability_zone
          type              = "gp3"
          size              = 500
          iops              = 6000
          throughput        = 250
        }

        resource "aws_volume_attachment" "data" {
          count       = 2
          device_name = "/dev/xvdb${substr("abcdefghijklmnopqrstuvwxyz", count.index % 26, 1)}"
          volume_id   = aws_ebs_volume.data[count.index].id
          instance_id = var.instance_id
        }
    "##]]
    .assert_eq(&emitted(gp3, Tool::Terraform));
    expect![[r##"
        # aws/io2,size=100g,iops=9000
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata:
          name: io2
        provisioner: ebs.csi.aws.com
        parameters:
          type: io2
          iops: "9000"
        reclaimPolicy: Delete
        allowVolumeExpansion: true
        volumeBindingMode: WaitForFirstConsumer
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata:
          name: data
        spec:
          storageClassName: io2
          accessModes:
            - ReadWriteOnce
          resources:
            requests:
              storage: 100Gi
    "##]]
    .assert_eq(&emitted("aws/io2,size=100g,iops=9000", Tool::StorageClass));
    expect![[r##"
        # aws/2xgp3,size=500g,iops=6000,mbps=262.144,vm=m6i.xlarge
        # All that is on these disks is lost.
        : "${DISKS:?set DISKS to the 2 volumes, as /dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol...}"
        # shellcheck disable=SC2086
        mdadm --create /dev/md/data --level=0 --raid-devices=2 --chunk=512K $DISKS
    "##]]
    .assert_eq(&emitted(gp3, Tool::Mdadm));
    expect![[r##"
        # gcp/2xpd-ssd,size=200g,vm=n2-standard-8
        # The instance: machine_type = "n2-standard-8".

        variable "zone" {
          type = string
        }

        variable "instance" {
          type = string
        }

        resource "google_compute_disk" "data" {
          count = 2
          name  = "data-${count.index}"
          type  = "pd-ssd"
          zone  = var.zone
          size  = 200
        }

        resource "google_compute_attached_disk" "data" {
          count       = 2
          disk        = google_compute_disk.data[count.index].id
          instance    = var.instance
          device_name = "data-${count.index}"
        }
    "##]]
    .assert_eq(&emitted(
        "gcp/2xpd-ssd,size=200g,vm=n2-standard-8",
        Tool::Terraform,
    ));
    expect![[r##"
        # gcp/hyperdisk-balanced,size=200g,iops=3000,mbps=146.80064
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata:
          name: hyperdisk-balanced
        provisioner: pd.csi.storage.gke.io
        parameters:
          type: hyperdisk-balanced
          provisioned-iops-on-create: "3000"
          provisioned-throughput-on-create: 140Mi
        reclaimPolicy: Delete
        allowVolumeExpansion: true
        volumeBindingMode: WaitForFirstConsumer
        ---
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata:
          name: data
        spec:
          storageClassName: hyperdisk-balanced
          accessModes:
            - ReadWriteOnce
          resources:
            requests:
              storage: 200Gi
    "##]]
    .assert_eq(&emitted("gcp/hyperdisk-balanced,size=200g", Tool::StorageClass));
    expect![[r#"
        # gcp/2xpd-ssd,size=200g
        # All that is on these disks is lost.
        mdadm --create /dev/md/data --level=0 --raid-devices=2 --chunk=512K \
          /dev/disk/by-id/google-data-0 \
          /dev/disk/by-id/google-data-1
    "#]]
    .assert_eq(&emitted("gcp/2xpd-ssd,size=200g", Tool::Mdadm));
    expect![[r#"
        error: az is the command line of Azure, and this layout is of aws: emit terraform, storageclass or mdadm
    "#]].assert_eq(&emitted(gp3, Tool::CommandLine));
    expect![[r#"
        error: hyperdisk-balanced-high-availability is kept in two zones, which takes another resource: only its StorageClass is written here
    "#]].assert_eq(&emitted(
        "gcp/hyperdisk-balanced-high-availability,size=200g",
        Tool::Terraform,
    ));
    expect![[r#"
        error: names to attach volumes under are written for 26 at most, and this layout has 27: plan with --raid0-max 26
    "#]].assert_eq(&emitted("aws/27xgp3,size=500g", Tool::Terraform));
}

/// One of each kind of each cloud.
const KINDS: [&str; 10] = [
    CHOSEN,
    "azure/P40,vm=Standard_DS3_v2,cache=ro",
    "azure/P30,burst=on-demand",
    "azure/Ultra,vm=Standard_D8s_v5",
    "aws/2xgp3,size=500g,iops=6000,mbps=262.144,vm=m6i.xlarge",
    "aws/io2,size=100g,iops=9000",
    "aws/st1,size=500g",
    "gcp/2xpd-ssd,size=200g,vm=n2-standard-8",
    "gcp/hyperdisk-balanced,size=200g",
    "gcp/hyperdisk-throughput,size=4096g",
];

/// By a parser of Terraform's language: the resources and variables that the text is to have, and no reference to another.
#[test]
fn terraform_is_read_by_a_parser_of_its_language() {
    for target in KINDS {
        let text = emitted(target, Tool::Terraform);
        let body: hcl::Body = hcl::from_str(&text).unwrap_or_else(|why| panic!("{target}: {why}\n{text}"));
        let labels = |kind: &str| -> Vec<String> {
            let blocks = body.blocks().filter(|block| block.identifier() == kind);
            blocks
                .map(|block| block.labels()[0].as_str().to_owned())
                .collect()
        };
        let (resources, variables) = (labels("resource"), labels("variable"));
        assert_eq!(resources.len(), 2, "{target}: {resources:?}");
        let named = text.split("var.").skip(1);
        for name in named.map(|rest| {
            rest.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                .next()
        }) {
            assert!(
                variables.iter().any(|variable| Some(variable.as_str()) == name),
                "{target}: {name:?}"
            );
        }
    }
}

/// By a parser of YAML: a class whose parameters are texts, as Kubernetes wants them, and a claim of it.
#[test]
fn storage_classes_are_read_by_a_parser_of_yaml() {
    for target in KINDS.into_iter().filter(|target| !target.contains("/2x")) {
        let text = emitted(target, Tool::StorageClass);
        let documents =
            yaml_rust2::YamlLoader::load_from_str(&text).unwrap_or_else(|why| panic!("{target}: {why}"));
        let [class, claim] = &documents[..] else {
            panic!("{target}: {text}");
        };
        assert_eq!(class["kind"].as_str(), Some("StorageClass"), "{target}");
        assert!(
            class["provisioner"]
                .as_str()
                .is_some_and(|driver| driver.contains(".csi.")),
            "{target}"
        );
        let parameters = class["parameters"].as_hash().expect("parameters");
        for (key, value) in parameters {
            assert!(
                key.as_str().is_some() && value.as_str().is_some(),
                "{target}: {key:?}: {value:?}"
            );
        }
        assert_eq!(class["allowVolumeExpansion"].as_bool(), Some(true));
        assert_eq!(
            claim["spec"]["storageClassName"], class["metadata"]["name"],
            "{target}"
        );
        let size = claim["spec"]["resources"]["requests"]["storage"].as_str();
        assert!(
            size.is_some_and(|size| size.ends_with("Gi")),
            "{target}: {size:?}"
        );
    }
}
